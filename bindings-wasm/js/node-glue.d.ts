/** What the glue of Node's build has beside that of the others. */
import 'turnlatch-glue';

declare module 'turnlatch-glue' {
	export function run_decision(run: number): number;
}
