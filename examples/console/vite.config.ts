import { defineConfig } from 'vite';

export default defineConfig({
	base: './',
	build: {
		target: 'es2023',
		// Every file stays a file: the service's policy allows no data URLs for scripts and styles.
		assetsInlineLimit: 0,
		modulePreload: false,
		// The wasm is named by its content; nothing else in the bundle is large.
		chunkSizeWarningLimit: 2000,
	},
	oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
	server: { proxy: { '/v1': process.env.TURNLATCH_SERVICE ?? 'http://127.0.0.1:8642' } },
});
