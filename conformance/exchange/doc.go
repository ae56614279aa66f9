// Package exchange holds what was said between rin and a node, as plain data.
//
// An [Exchange] is one HTTP request with its answer or its failure. A [Log] is the evidence of a whole run: the exchanges under
// their labels, the labels that were planned and not sent with the reason, the node's document as reduced, the schema
// findings and the roles that discovery gave to the node's resources. Nothing here touches the network; the recorder that
// fills a log lives in exchange/record.
//
// Evidence is free of secrets from the moment it exists: a [Redactor] replaces every known secret and token by a marker
// before an exchange enters a log, after [TokenFacts] were taken.
package exchange
