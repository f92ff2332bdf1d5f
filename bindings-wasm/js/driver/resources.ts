const OUT_OF_RESOURCES: readonly unknown[] = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'];

/**
 * Whether the host has no descriptor, process or memory left: an error with the code `EMFILE`, `ENFILE`, `EAGAIN` or
 * `ENOMEM`. A turn that cannot start because of that waits until it can; by any other error that lasts it fails.
 */
export function isOutOfResources(error: unknown): boolean {
	return error instanceof Error && 'code' in error && OUT_OF_RESOURCES.includes(error.code);
}
