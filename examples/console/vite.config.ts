import { codes } from 'turnlatch';
import { defineConfig } from 'vite';

/** The slim core has no sentences about codes. Here they are data, read from the full one. */
const tableOfCodes = {
	name: 'table-of-codes',
	resolveId: (id: string) => (id === 'virtual:codes' ? '\0codes' : undefined),
	load: (id: string) => (id === '\0codes' ? `export default ${JSON.stringify(codes())}` : undefined),
};

export default defineConfig({
	plugins: [tableOfCodes],
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
