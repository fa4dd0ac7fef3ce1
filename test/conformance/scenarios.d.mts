import type { Server } from "./server.mjs";

export interface Scenario {
	readonly file: string;
	readonly name: string;
	readonly steps: readonly { readonly name: string }[];
}

/** One pair whose answer was not the wanted one. */
export interface Failure {
	readonly file: string;
	readonly scenario: string;
	readonly step: string;
}

export function loadScenarios(): readonly Scenario[];
/** @param file For messages. */
export function scenariosIn(file: string, text: string): readonly Scenario[];
export function playScenario(
	server: Server,
	scenario: Scenario,
): Promise<{ readonly passed: number; readonly failures: readonly Failure[] }>;
export function failureText(failure: Failure): string;
