// Package constraint tells whether values fit the schemas of an OpenAPI document, and in words what a schema takes.
//
// The schemas of both versions are rewritten for a JSON Schema compiler: known keywords in their right shape only, so that neither a loader
// nor a dialect of the document is ever asked for. Requests and responses differ in what readOnly and writeOnly mean.
package constraint
