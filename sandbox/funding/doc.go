// Package funding is the funding service of the node (NET-R2): the store of fundings, their filters and pages, and
// the resource handlers. It keeps its own book of service accounts with role and affiliation (NET-R17), apart from
// the clients of the authorization server, so that the two ways of being refused can be told apart.
package funding
