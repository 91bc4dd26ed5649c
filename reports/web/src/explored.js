// The page with the program's core in it.
import { explore } from './explore.js';
import { start } from './main.js';

start(explore);
