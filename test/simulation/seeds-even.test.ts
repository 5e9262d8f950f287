import { testSeeds } from "./seeds.js";

testSeeds(0);
