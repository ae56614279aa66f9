// Package conformance certifies a live research-information node: against its own OpenAPI document, the network's interface document,
// and the OAuth and bearer rules.
//
// The way of a certification, and the package of each step:
//
//	target      which node, with whose credentials, how politely
//	discover    registry -> token -> info -> document -> operations
//	probe       provokes exchanges in lanes, and never judges
//	exchange    what was said, as data without secrets: the evidence
//	openapi     what the node's document says of its answers
//	requirement the catalogue: pure checks over evidence
//	verdict     judgements -> outcome of the profile
//	report      the verdict in every format
//
// [Certify] walks that way once; [Judge] walks its second half over recorded evidence. Session joins the parts that talk to the
// node, suite runs the catalogue under Ginkgo while evidence arrives, and worker does both in a child process, because
// everything a node sends is hostile.
package conformance
