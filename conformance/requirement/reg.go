package requirement

import "github.com/rin-network/rin/conformance/exchange"

// registryEntry lists group REG in catalogue order. The group does not apply to a run that was given bare URLs.
func registryEntry() []Requirement {
	read := []exchange.Label{exchange.Registry.With(exchange.OK)}
	return []Requirement{
		{
			ID: "REG-01", Title: "Entry records a token endpoint URL and an info endpoint URL",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R6"),
			Quote:    "The token endpoint URL and the info endpoint URL of every participating node are recorded in a registry for production use.",
			Probe:    "The registry document is read and the entry with the node's id is looked up; its members oauth2 and info are the two URLs.",
			Forgives: "A bare array of entries in place of {\"member\": […]}, ids of any form, blanks around the values.",
			Fix:      "Add both members to the entry: oauth2 is the full URL of the token endpoint, info that of the info endpoint.",
			Breaks:   "The entry carries oauth2 but no info.",
			Reads:    read, Check: ofEntry(entryRecordsURLs),
		},
		{
			ID: "REG-02", Title: "Recorded URLs are absolute https URLs without fragment or userinfo",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "3.2").And(NET("R19")),
			Quote:    "The endpoint URI MUST NOT include a fragment component.",
			Probe:    "The two recorded URLs are parsed.",
			Forgives: "A query, which is legal; a slash at the end or none; blanks around the URL, which REG-05 reports; plain http for a node on loopback.",
			Fix:      "Record the URL as clients send it: https, the host, the path; no user name, no password and no # in it.",
			Breaks:   "oauth2 is recorded as http://….",
			Reads:    read, Check: ofRecordedURLs(recordedURLsSound),
		},
		{
			ID: "REG-03", Title: "Recorded URLs are the ones that work",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R6").AsDerived(),
			Quote:    "The token endpoint URL and the info endpoint URL of every participating node are recorded in a registry for production use.",
			Probe:    "The good token request and the good info request go to the recorded URLs as they stand. Where the run was given other URLs of the same origin, one more request of each kind goes to the recorded ones.",
			Forgives: "Other URLs of another origin, which may be another environment: they are not compared. A redirect on the same origin that adds or drops a slash, of which INF-04 warns.",
			Fix:      "Record exactly the URL that works, or let the recorded one work.",
			Breaks:   "info is recorded with a path that answers 404; the real one differs by a segment.",
			Reads: append(read, exchange.TokenEndpoint.With(exchange.OK), exchange.Info.With(exchange.OK),
				exchange.RecordedToken.With(exchange.OK), exchange.RecordedInfo.With(exchange.OK)),
			Check: ofRecordedURLs(recordedURLsWork),
		},
		{
			ID: "REG-04", Title: "Entry carries id, acronym, name and a contact e-mail",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   apiFramework("Registry", "registry").And(NET("R7")),
			Quote:    "contact: An email address for inquiries related to the institution.",
			Probe:    "The members id, acronym, name and contact of the entry are read. No mail is sent.",
			Forgives: "Blanks at the end of a name, transliterated umlauts, mailto: in front of the address.",
			Fix:      "Fill in the four members; contact is an address that a person reads, such as ris@institution.example.",
			Breaks:   "contact is the text n/a.",
			Reads:    read, Check: ofEntry(entryComplete),
		},
		{
			ID: "REG-05", Title: "Entry is clean and unique",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(8259, "4"),
			Quote:    "The names within an object SHOULD be unique.",
			Probe:    "The URLs of the entry are searched for blanks around them and control characters, the document for a second entry with the same id, the entry for members that it holds twice.",
			Forgives: "Two entries of one institution under different ids. Blanks around the name, and hosts or realms that look like staging or test, are noted only.",
			Fix:      "Remove blanks and repeated members, and keep one entry for each id.",
			Breaks:   "The id appears twice with different token URLs.",
			Reads:    read, Check: ofEntry(entryClean),
		},
		{
			ID: "REG-06", Title: "Entry holds no secret",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R19").AsDerived(),
			Quote:    "The client ID and client secret are highly sensitive and are passed on only through a secure channel.",
			Probe:    "The entry is searched for the secrets and the client id of this run, and for members whose name speaks of a secret, a password or a client id.",
			Forgives: "Texts and links that mention client_secret: names of members and exact values count.",
			Fix:      "Remove the member from the entry, and issue new credentials: whoever read the registry holds the old ones.",
			Breaks:   "The entry has a member client_secret.",
			Reads:    read, Check: ofEntry(entryHoldsNoSecret),
		},
	}
}
