/** A way to the database that can lose a connection at the moment of a commit. */

import { connect, createServer, type Server, type Socket } from 'node:net';

const COMMIT = Buffer.from('COMMIT\0');

/** When the connection is lost: when the server has committed and nobody has heard of it, or before it was asked to. */
export type Loss = 'after the commit' | 'before the commit';

export class Unreliable {
	readonly #server: Server;
	readonly #port: number;
	readonly #sockets = new Set<Socket>();
	#loss: Loss | undefined;
	losses = 0;

	private constructor(server: Server, port: number) {
		this.#server = server;
		this.#port = port;
		server.on('connection', (client) => this.#pass(client));
	}

	static start(port: number): Promise<Unreliable> {
		const server = createServer();
		return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(new Unreliable(server, port))));
	}

	get port(): number {
		return (this.#server.address() as { port: number }).port;
	}

	/** Loses the connection of the next commit. */
	loseTheNext(loss: Loss): void {
		this.#loss = loss;
	}

	async close(): Promise<void> {
		for (const socket of this.#sockets) socket.destroy();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	#pass(client: Socket): void {
		const server = connect(this.#port, '127.0.0.1');
		const part = () => {
			client.destroy();
			server.destroy();
		};
		for (const socket of [client, server]) {
			this.#sockets.add(socket);
			socket.on('error', part);
			socket.on('close', part);
		}
		let committing = false;
		client.on('data', (data) => {
			const loss = data.includes(COMMIT) ? this.#loss : undefined;
			if (loss !== undefined) {
				this.#loss = undefined;
				this.losses += 1;
				if (loss === 'before the commit') return part();
				committing = true;
			}
			server.write(data);
		});
		// What the server says first after it was told to commit is that it has.
		server.on('data', (data) => (committing ? part() : client.write(data)));
	}
}
