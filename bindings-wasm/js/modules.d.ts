/** Modules that bundling puts in. */
declare module '*.wasm' {
	const module: WebAssembly.Module;
	export default module;
}
declare module 'inline:wasm' {
	const base64: string;
	export default base64;
}
