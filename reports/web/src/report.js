// The page of a report.
import { start } from './main.js';

start(null);
