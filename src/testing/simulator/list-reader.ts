/** Lists, whole ones and page by page, at the newest revision and at older ones, compared with the model. */
import { keyOf } from "../../api/resource.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { Revision } from "../../store/entry.ts";
import type { TestResponse } from "../test-server.ts";
import { checkContents } from "./check-contents.ts";
import type { Dice } from "./dice.ts";
import { pathOf, randomSelection, textOf, type WatchSelection } from "./watch-selection.ts";
import type { WatchPorts } from "./watch-session.ts";

interface PagedList {
	readonly selection: WatchSelection;
	readonly revision: Revision;
	readonly token: string;
	readonly items: ReadonlyMap<string, KubeObject>;
}

export class ListReader {
	readonly #ports: WatchPorts;
	readonly #dice: Dice;
	readonly #namespaces: readonly string[];
	/** A list that goes on while others write. */
	#paged: PagedList | undefined;

	constructor(ports: WatchPorts, dice: Dice, namespaces: readonly string[]) {
		this.#ports = ports;
		this.#dice = dice;
		this.#namespaces = namespaces;
	}

	async step(): Promise<void> {
		if (this.#paged !== undefined) return this.#nextPage(this.#paged);
		const selection = randomSelection(this.#dice, this.#namespaces);
		const roll = this.#dice.below(3);
		if (roll === 0) await this.#listNow(selection);
		else if (roll === 1) await this.#listThen(selection);
		else await this.#firstPage(selection);
	}

	async #listNow(selection: WatchSelection): Promise<void> {
		const { type, namespace, labelSelector, fieldSelector } = selection;
		const before = this.#ports.model.revision;
		const { items, resourceVersion } = await this.#ports.server.client.list(type, {
			...(namespace === "" ? {} : { namespace }),
			...(labelSelector === undefined ? {} : { labelSelector }),
			...(fieldSelector === undefined ? {} : { fieldSelector }),
		});
		const revision = Number(resourceVersion);
		const { verdict } = this.#ports;
		if (revision < before) verdict.broke("listed", `${textOf(selection)}: as of ${revision}, and ${before} was there`);
		this.#check(selection, revision, mapOf(items));
	}

	/** At a revision of the past, which may be gone. */
	async #listThen(selection: WatchSelection): Promise<void> {
		const { revision: newest, compacted } = this.#ports.model;
		const oldest = Math.max(newest - 400, compacted - 5, 1);
		const revision = oldest + this.#dice.below(newest - oldest + 1);
		const answer = await this.#get(selection, `resourceVersion=${revision}&resourceVersionMatch=Exact`);
		if (this.#isGone(answer, selection, revision)) return;
		this.#check(selection, revision, mapOf(answer.json.items ?? []));
	}

	async #firstPage(selection: WatchSelection): Promise<void> {
		const answer = await this.#get(selection, `limit=${1 + this.#dice.below(4)}`);
		const revision = Number(answer.json.metadata.resourceVersion);
		this.#turn({ selection, revision, token: "", items: new Map() }, answer);
	}

	async #nextPage(list: PagedList): Promise<void> {
		this.#paged = undefined;
		const answer = await this.#get(list.selection, `limit=${1 + this.#dice.below(8)}&continue=${list.token}`);
		if (!this.#isGone(answer, list.selection, list.revision)) this.#turn(list, answer);
	}

	#turn(list: PagedList, { status, json }: TestResponse): void {
		const { verdict } = this.#ports;
		const what = `pages of ${textOf(list.selection)}`;
		if (status !== 200) {
			verdict.broke("answered", `${what}: ${status} ${json.message}`);
			return;
		}
		const page = mapOf(json.items ?? []);
		const again = [...page.keys()].filter((key) => list.items.has(key));
		if (again.length > 0) verdict.broke("listed", `${what}@${list.revision}: ${again} again`);
		const items = new Map([...list.items, ...page]);
		const { continue: token = "" } = json.metadata;
		if (token === "") this.#check(list.selection, list.revision, items);
		else this.#paged = { ...list, token, items };
	}

	#isGone({ status, json }: TestResponse, selection: WatchSelection, revision: Revision): boolean {
		const { model, verdict } = this.#ports;
		// A list at the newest revision needs no history.
		const isGone = revision < model.compacted;
		const what = `list of ${textOf(selection)} at ${revision}`;
		if (isGone !== (status === 410)) {
			verdict.broke("compacted", `${what}: ${status} ${json.message ?? ""}, compacted ${model.compacted}`);
		} else if (status !== 200 && status !== 410) verdict.broke("answered", `${what}: ${status} ${json.message}`);
		return status !== 200;
	}

	#check(selection: WatchSelection, revision: Revision, items: ReadonlyMap<string, KubeObject>): void {
		const { model, verdict } = this.#ports;
		checkContents({ what: `list of ${textOf(selection)}`, selection, revision }, items, model, verdict);
	}

	#get(selection: WatchSelection, query: string): Promise<TestResponse> {
		return this.#ports.server.request("GET", `${pathOf(selection)}&${query}`);
	}
}

function mapOf(items: readonly KubeObject[]): Map<string, KubeObject> {
	return new Map(items.map((object) => [keyOf(object), object]));
}
