// The entries for browsers as consumers with modules must see them, together with the driver: nothing here runs.
import { Driver, LocalSlots, LocalTimers, type Processes } from 'turnlatch/driver';
import { IndexedDbStore } from 'turnlatch/indexeddb';
import * as inline from 'turnlatch/inline';
import { admit, init, type Plan } from 'turnlatch/web';

declare const processes: Processes;

export async function inABrowser(): Promise<void> {
	await init();
	const store = await IndexedDbStore.open();
	const driver = new Driver({ slots: new LocalSlots(1), timers: new LocalTimers(), processes, store });
	const plan: Plan = admit({ runner: {} }, { run_id: 'r1', engine: 'codex' }, { engines: ['codex'] });
	console.log(await driver.start(plan), inline.version());
	// @ts-expect-error a store is opened, not made
	new IndexedDbStore();
}
