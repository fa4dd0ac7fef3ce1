import type { ListenProblem } from "../proxy/ports.ts";

/** What the system's error means to whoever wanted the address. */
export function problemOf({ code }: NodeJS.ErrnoException): ListenProblem {
	switch (code) {
		case "EADDRINUSE":
			return "address-in-use";
		case "EADDRNOTAVAIL":
		case "EAFNOSUPPORT":
			return "address-not-available";
		case "EACCES":
			return "permission-denied";
		default:
			return "other";
	}
}
