// The page in which Chromium is measured; chromium.mjs asks it.
const began = performance.now();

const read = async (path) => (await fetch(path)).json();

async function load() {
	const [{ turnlatch }, api, skill] = await Promise.all([
		import('./turnlatch.mjs'),
		import('/bindings-wasm/dist/web.js'),
		read('/bench/skill.json'),
	]);
	await api.init();
	return turnlatch(api, skill);
}

const cold = new URLSearchParams(location.search).get('cold');
const contender = await load();
if (cold !== null) {
	const { decision } = contender.prepare(await read(cold));
	globalThis.done = { nanoseconds: Math.round((performance.now() - began) * 1e6), decision };
} else {
	let prepared;
	const answers = {
		prepare: async ({ case: of }) => {
			prepared = contender.prepare(await read(of));
			return prepared && { decision: prepared.decision };
		},
		run: ({ calls }) => ({ nanoseconds: prepared.batch(calls) }),
	};
	globalThis.answer = (request) => answers[request.do]?.(request);
}
