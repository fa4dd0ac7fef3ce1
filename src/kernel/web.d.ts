/**
 * The few web types that portable rooms may use. Browsers and Node have all of them, so the browser
 * project and the node project leave this file out and check the same code against their own.
 */
interface AbortSignal {
	readonly aborted: boolean;
	readonly reason: unknown;
	throwIfAborted(): void;
	addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
	removeEventListener(type: "abort", listener: () => void): void;
}

interface AbortController {
	readonly signal: AbortSignal;
	abort(reason?: unknown): void;
}
declare const AbortController: { new (): AbortController };

interface TextEncoder {
	encode(text: string): Uint8Array;
}
declare const TextEncoder: { new (): TextEncoder };

interface TextDecoder {
	decode(bytes: Uint8Array, options?: { stream?: boolean }): string;
}
declare const TextDecoder: { new (label?: string, options?: { fatal?: boolean }): TextDecoder };

interface URLSearchParams {
	get(name: string): string | null;
	getAll(name: string): string[];
	has(name: string): boolean;
	append(name: string, value: string): void;
	set(name: string, value: string): void;
	toString(): string;
}
declare const URLSearchParams: { new (init?: string): URLSearchParams };

/** Base64 of a string of bytes (code units up to 255), and back. */
declare function btoa(bytes: string): string;
declare function atob(base64: string): string;
