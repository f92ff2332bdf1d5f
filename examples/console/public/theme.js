// Runs before anything is painted, so that a chosen theme never flashes the other one first.
try {
	const theme = localStorage.getItem('turnlatch.theme');
	if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
	// A browser that keeps nothing follows the system.
}
