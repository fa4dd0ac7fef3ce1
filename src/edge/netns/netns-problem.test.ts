import { expect, test } from "vitest";
import { netnsProblem } from "./netns-problem.ts";

test.each([
	{ platform: "linux", userId: 0, programs: ["ip", "nft"], says: undefined },
	{ platform: "darwin", userId: 0, programs: ["ip", "nft"], says: "want Linux" },
	{ platform: "linux", userId: 1000, programs: ["ip", "nft"], says: "want root" },
	{ platform: "linux", userId: 0, programs: ["ip"], says: "want the program nft: apt-get install nftables" },
	{
		platform: "linux",
		userId: 0,
		programs: [],
		says: "want the programs ip and nft: apt-get install iproute2 nftables",
	},
])("on $platform as $userId with $programs: $says", ({ platform, userId, programs, says }) => {
	const problem = netnsProblem({ platform, userId, hasProgram: (name) => programs.includes(name) });
	if (says === undefined) expect(problem).toBeUndefined();
	else expect(problem).toContain(says);
});
