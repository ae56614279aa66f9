// Package account keeps the books of a node in which clients and their accounts are entered, and knows the steps by which a party gets
// one (NET-R18): it asks for access, the operator of the authorization server creates the client (NET-R16), the operator of the funding
// service grants role and affiliation (NET-R17), and both are handed over.
//
// The two books are apart, as the two services are. [Clients] is the authorization server's: ids, salted hashes of secrets, Service Account
// User IDs. [Accounts] is the funding service's: role and affiliation by Service Account User ID. A client may be in the first and not in
// the second: it gets tokens, and is refused with 403.
//
// [Books] does the steps. A step is kept in a [Store] before it is acknowledged; readers see all of it or nothing, and never wait for it.
// A secret in plain text is in the answer of the step that made it, and nowhere else.
package account
