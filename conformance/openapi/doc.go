// Package openapi stands between rin and API documents that nobody trusts.
//
// [Guard] turns the text that a node serves into a reduced copy: JSON of bounded size and depth, without examples and extensions, without
// any reference that leaves the document. A [Judge] compares answers with the reduced copy and says where they differ, as
// findings that hold no content of the answer. [Errata] are the known faults of the network's published documents.
//
// Schemas are judged with the JSON Schema compiler as libopenapi-validator configures it, on copies that this package writes: only known
// keywords in their right shape reach the compiler, and its loader refuses every address, so that nothing a document names
// is ever fetched.
package openapi
