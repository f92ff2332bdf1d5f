// A scripted agent: asks which file to use, takes the answer and finishes.
//
// usage: agent.mjs [ANSWER]     one turn: asks without an answer, finishes with one
//        agent.mjs --sticky     stays and reads its answers, one line each; a line "---" ends each turn
import { createInterface } from 'node:readline';

const QUESTION = 'Two fit.\n{"ask_user": {"prompt": "Which file?", "kind": "choose_one", "options": ["a.txt", "b.txt"]}}';
const finish = (answer) => console.log('Done.', JSON.stringify({ file: answer, __SKILL_DONE__: true }));

const [argument] = process.argv.slice(2);
if (argument === '--sticky') {
	console.log(`${QUESTION}\n---`);
	for await (const line of createInterface(process.stdin)) {
		finish(line.trim());
		console.log('---');
	}
} else if (argument !== undefined) {
	finish(argument);
} else {
	console.log(QUESTION);
}
