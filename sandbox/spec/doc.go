// Package spec makes and serves the OpenAPI document of the node (NET-R1, NET-R3, NET-R14): OpenAPI 3.0.3, as JSON,
// describing exactly what the sandbox serves. It is composed in Go from small pieces, so that the guarded API, the
// try-out space and both ways of paging have documents that differ only where the service does.
package spec
