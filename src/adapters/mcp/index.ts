export { fromMcp } from "./from-mcp.ts";
export type { FromMcpOptions } from "./import-options.ts";
export type { McpClient, McpProgress, McpRequest, McpRequestOptions } from "./mcp-client.ts";
