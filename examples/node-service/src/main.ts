/** Starts the service: `node dist/main.js --help`. */

import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { makeApp } from './app.js';
import { hostOf } from './host.js';
import { inWords, log, logAs } from './log.js';
import { Service } from './service.js';
import { readSettings, type Settings, SettingsInvalid } from './settings.js';

const LAST_ANSWERS_MS = 5000;

try {
	const settings = readSettings(process.argv.slice(2), process.env);
	if (settings !== undefined) {
		logAs(settings.log);
		await serve(settings);
	}
} catch (error) {
	if (!(error instanceof SettingsInvalid)) throw error;
	process.stderr.write(`turnlatch-service: ${error.message}\n`);
	// By now it may listen, or be connected to something.
	process.exit(2);
}

/** Serves until SIGTERM or SIGINT. */
async function serve(settings: Settings): Promise<void> {
	const service = new Service(settings, await hostOf(settings.engine));
	let go = () => {};
	const ready = new Promise<void>((resolve) => {
		go = resolve;
	});
	const app = makeApp(service, settings, ready);
	// Before the first agent is started: without a port there is nothing to start them for.
	await listen(app, settings);
	await service.start();
	log.warning`agents run as the user of this service: they can read its token and answer in place of people`;
	go();
	process.stdout.write(`listening on ${address(app)}\n`);
	await signalled();
	await service.stop();
	setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_MS).unref();
	await app.close();
	await service.close();
	log.info`stopped`;
	// What is left are timers of nobody.
	process.exit(0);
}

async function listen(app: FastifyInstance, { host, port }: Settings): Promise<void> {
	try {
		await app.listen({ host, port, backlog: 512 });
	} catch (error) {
		throw new SettingsInvalid(`cannot listen on ${host}, port ${port}: ${inWords(error)}`);
	}
}

/** The first signal stops gently, a second one at once. */
function signalled(): Promise<void> {
	return new Promise((resolve) => {
		for (const signal of ['SIGINT', 'SIGTERM'] as const) {
			process.once(signal, () => {
				for (const again of ['SIGINT', 'SIGTERM'] as const) process.on(again, () => process.exit(1));
				resolve();
			});
		}
	});
}

function address(app: FastifyInstance): string {
	const { address: host, port } = app.server.address() as AddressInfo;
	return host.includes(':') ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}
