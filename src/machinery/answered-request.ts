/** A request that a simulated Pod answered, as a line for the log of a container. */
export interface AnsweredRequest {
	readonly podUID: string;
	/** The port that was connected to. */
	readonly port: number;
	/** Wall milliseconds of the end of the answer. */
	readonly atMs: number;
	readonly text: string;
}
