// Package e2e certifies servers that nobody here wrote, with the built binary: node-oidc-provider and Keycloak before the sandbox's API
// or a small resource server of its own idea, and mocks that have to be refused. It serves an API from its
// document beside Prism, and counts what each gets wrong and how fast it is. It also reads the sandbox's pages and a report in a
// browser. Its tests need Node and npm, Java and Maven for Keycloak, and Chromium for pages and pictures, so they stand behind the build
// tag e2e; make e2e runs them. What is missing is skipped with a loud line.
//
// What each requirement comes to is written in testdata/outcomes, a table for each node. After a change of the catalogue
//
//	make e2e RIN_UPDATE_OUTCOMES=1
//
// writes them anew and fails while a line that is not passed begins its reason with "?": read it, find out who is right by the RFC, and
// mend the requirement or take the mark away.
//
// kin-openapi judges all recorded answers again. Where it and rin differ, difference_test.go says why; a difference that it does not
// know fails.
package e2e
