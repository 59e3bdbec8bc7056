import type MiniSearch from 'minisearch';
import type { Options, SearchResult } from 'minisearch';

export declare const INDEX_OPTIONS: Options;
export declare function find(index: MiniSearch, text: string): SearchResult[];
