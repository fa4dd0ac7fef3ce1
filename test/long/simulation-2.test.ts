import { longSimulation } from "./long-simulation.ts";

longSimulation(1);
