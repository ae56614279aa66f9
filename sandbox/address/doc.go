// Package address knows where everything of a node is found: every path of the sandbox is spelled here and
// nowhere else, so that the route table, the info resource, the registry, the OpenAPI document, the metadata and
// the hints in error texts cannot drift apart.
package address
