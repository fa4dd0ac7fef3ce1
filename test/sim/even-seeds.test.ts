import { simulatedSeeds } from "./simulated-seeds.ts";

simulatedSeeds(2);
