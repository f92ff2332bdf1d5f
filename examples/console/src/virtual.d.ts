/** The core's table of codes with its sentences, which the slim build leaves out; `vite.config.ts` reads it while it bundles. */
declare module 'virtual:codes' {
	const codes: readonly import('turnlatch').CodeInfo[];
	export default codes;
}
