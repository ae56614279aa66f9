// Package sandboxtest runs a sandbox inside a Go test, as httptest does for a handler: a network of nodes on a port of its own, that ends with
// the test.
//
//	func TestImport(t *testing.T) {
//		sandbox := sandboxtest.New(t)
//		client := sandbox.Node.Credential()
//		importer := importer.New(sandbox.Addresses.Registry, client.ClientID, client.Secret)
//
//		sandbox.Play("429-then-ok") // the first two calls of each client are answered 429, with Retry-After
//		... run the importer, look at what it imported ...
//		sandbox.ExpectCleanSheet()  // it waited as it was told, fetched one token, read no page twice
//	}
//
// Everything that is drawn comes from the seed: the data, the keys, and also ids and secrets of the clients, so that a failed test
// can be run again. Tests may run in parallel, each with its own sandbox.
package sandboxtest
