/** The script of the page in which random scripts are carried out. */

import * as turnlatch from 'turnlatch';
import { compare } from './differential.js';

const text = await (await fetch('/scripts')).text();
await turnlatch.init();
(globalThis as { done?: unknown }).done = await compare(turnlatch, text.trimEnd().split('\n'));
