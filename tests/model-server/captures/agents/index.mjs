// The agents: which version, how it is told where its model is, and its command lines.
import { claude, claudePartial, claudeSchema } from './claude.mjs';
import { codex, codexAcp } from './codex.mjs';
import { gemini, geminiAcp, geminiJson } from './gemini.mjs';
import { opencode, opencodeThinking } from './opencode.mjs';
import { pi } from './pi.mjs';
import { qwen } from './qwen.mjs';

/**
 * @typedef {import('../place.mjs').Place} Place
 *
 * @typedef {object} Program
 * @property {string} file the capture's file, without `.json`
 * @property {string} cli
 * @property {string} package
 * @property {string} version
 * @property {string} format the decoder that reads it
 * @property {(place: Place) => Record<string, string>} env
 * @property {(place: Place) => Record<string, object>} [settings] files by path, written as JSON
 * @property {import('../cases.mjs').Turn[][]} cases
 *
 * @typedef {object} Starts how an agent is started that runs for one turn
 * @property {(place: Place, prompt: string) => string[]} first
 * @property {(place: Place, session: string, reply: string) => string[]} resumed
 * @property {RegExp} session finds the session's id in the output
 * @property {string} [unknownSession] an id that is well formed, if its ids are no UUIDs
 *
 * @typedef {Program & Starts} Agent
 * @typedef {Program & { arguments: (place: Place) => string[] }} AcpAgent an agent whose process takes many turns
 */

/** @type {Agent[]} */
export const AGENTS = [
	codex,
	gemini,
	geminiJson,
	claude,
	claudePartial,
	claudeSchema,
	opencode,
	opencodeThinking,
	qwen,
	pi,
];

/** @type {AcpAgent[]} */
export const ACP_AGENTS = [codexAcp, geminiAcp];
