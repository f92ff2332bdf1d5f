/**
 * A way to the database that can lose a connection at the moment of a commit, and that can be cut: then what is sent on it
 * waits, and no connection is closed.
 *
 * It is a proxy on loopback, so that tests need no rights over the network. The kernel acknowledges what the proxy has not
 * passed on, which is what a proxy or a hanging server looks like.
 */

import { connect, createServer, type Server, type Socket } from 'node:net';

const COMMIT = 'COMMIT\0';

/** When the connection is lost: when the server has committed and nobody has heard of it, or before it was asked to. */
export type Loss = 'after the commit' | 'before the commit';

export class Unreliable {
	readonly #server: Server;
	readonly #port: number;
	readonly #connections = new Set<Connection>();
	readonly #watched = new Map<string, () => void>();
	#loss: Loss | undefined;
	#isCut = false;
	losses = 0;
	/** How many connections have come. */
	arrivals = 0;

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

	/** The address of a database, by this way. */
	url(url: string): string {
		return url.replace(`:${this.#port}/`, `:${this.port}/`);
	}

	/** Loses the connection of the next commit. */
	loseTheNext(loss: Loss): void {
		this.#loss = loss;
	}

	/** From now on nothing passes, in either direction. */
	cut(): void {
		this.#isCut = true;
	}

	/** Everything passes again, what has waited first. */
	mend(): void {
		this.#isCut = false;
		for (const connection of this.#connections) if (!connection.isLost) connection.flush();
	}

	/** Nothing passes any more on the connections where the client has said this. Gives how many they are. */
	lose(said: string): number {
		const lost = [...this.#connections].filter((connection) => connection.said.includes(said));
		for (const connection of lost) connection.isLost = true;
		return lost.length;
	}

	/** Acts once, before a client's next message with these words is passed on. */
	when(said: string, act: () => void): void {
		this.#watched.set(said, act);
	}

	async close(): Promise<void> {
		for (const connection of this.#connections) connection.part();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	#pass(client: Socket): void {
		this.arrivals += 1;
		const connection = new Connection(client, connect(this.#port, '127.0.0.1'));
		this.#connections.add(connection);
		let committing = false;
		const pass = (work: () => void) => {
			if (this.#isCut || connection.isLost) connection.waiting.push(work);
			else work();
		};
		const { server } = connection;
		for (const socket of [client, server]) {
			const over = () => {
				this.#connections.delete(connection);
				connection.part();
			};
			// That one side has closed it is not heard by the other as long as nothing passes.
			socket.on('error', () => pass(over));
			socket.on('close', () => pass(over));
		}
		client.on('data', (data) => {
			const text = data.toString('latin1');
			connection.said += text;
			for (const [said, act] of this.#watched) {
				if (!text.includes(said)) continue;
				this.#watched.delete(said);
				act();
			}
			const loss = text.includes(COMMIT) ? this.#loss : undefined;
			if (loss !== undefined) {
				this.#loss = undefined;
				this.losses += 1;
				if (loss === 'before the commit') return connection.part();
				committing = true;
			}
			pass(() => server.write(data));
		});
		// What the server says first after it was told to commit is that it has.
		server.on('data', (data) => pass(() => (committing ? connection.part() : client.write(data))));
	}
}

class Connection {
	readonly client: Socket;
	readonly server: Socket;
	/** What the client has said. */
	said = '';
	isLost = false;
	/** What is to be passed on when that is possible again. */
	waiting: (() => void)[] = [];

	constructor(client: Socket, server: Socket) {
		this.client = client;
		this.server = server;
	}

	flush(): void {
		for (const work of this.waiting.splice(0)) work();
	}

	part(): void {
		this.client.destroy();
		this.server.destroy();
	}
}
