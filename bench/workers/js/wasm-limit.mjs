// wasm-limit: memchr, serde_json and jsonschema in wasm, without a lifecycle (bench/limit).
import { decisionOf } from './skill.mjs';
import { atOnce, fresh, timed } from './timing.mjs';

const encoder = new TextEncoder();

/** The contender, of the compiled wasm and of what bench/skill.json says. A turn comes as text, or as its bytes. */
export function wasmLimit(module, skill, asBytes) {
	const { memory, room, compile, judge } = new WebAssembly.Instance(module, importsOf(module)).exports;
	compile(writeText(JSON.stringify(skill.output_schema)));

	/** The cheapest way in: written straight to where it is read. */
	function writeText(text) {
		const most = text.length * 3;
		const start = room(most);
		return encoder.encodeInto(text, new Uint8Array(memory.buffer, start, most)).written;
	}

	function writeBytes(bytes) {
		const start = room(bytes.length);
		new Uint8Array(memory.buffer, start, bytes.length).set(bytes);
		return bytes.length;
	}

	function turn({ text, is_stream }) {
		const bytes = encoder.encode(text);
		const write = asBytes ? writeBytes : writeText;
		const work = (given) => judge(write(given), is_stream);
		const prepare = () => (asBytes ? bytes.slice() : fresh(bytes));
		const items = work(prepare());
		const status = items === -2 ? 'failed' : items === -1 ? 'waiting_user' : 'succeeded';
		const decision = decisionOf(status, { items: { length: items } });
		return { decision, batch: (calls) => timed(calls, atOnce(bytes.length), prepare, work) };
	}

	return { prepare: (given) => (given.what === 'turn' ? turn(given) : undefined) };
}

/** All that it asks the outside for is seeds of its hash tables, and leaving their memory as it is will do. */
function importsOf(module) {
	const imports = {};
	for (const { module: from, name } of WebAssembly.Module.imports(module)) {
		imports[from] ??= {};
		imports[from][name] = () => 0;
	}
	return imports;
}
