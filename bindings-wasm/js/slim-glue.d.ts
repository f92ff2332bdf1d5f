/** What the glue of the slim build has beside that of the others. */
import 'turnlatch-glue';

declare module 'turnlatch-glue' {
	export function use_validator(validator?: (schema: string, instance?: string) => string): void;
}
