package openapi_test

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = DescribeTable("What a document says about the lock after wrong secrets",
	func(description string, want bool) {
		content, err := json.Marshal(map[string]any{"openapi": "3.0.3", "paths": map[string]any{}, "info": map[string]any{"title": "x", "version": "1", "description": description}})
		Expect(err).NotTo(HaveOccurred())
		d, err := openapi.Parse(content)
		Expect(err).NotTo(HaveOccurred())
		Expect(d.LocksOneClient()).To(Equal(want))
	},
	Entry("this client and no other", "Lists are arrays. Twelve wrong secrets for one client within a minute lock this client out of the token endpoint, and no other: 429 with Retry-After.", true),
	Entry("failed authentications of a client", "After 12 failed authentications of a client within a minute its token requests are answered with 429 and Retry-After for 15 seconds.", true),
	Entry("an account, in German", "Nach 10 falschen Geheimnissen hintereinander binnen 60 Sekunden ist das Konto am Tokenendpunkt für 30 Sekunden gesperrt (429 mit Retry-After).", true),
	Entry("by address", "After ten wrong secrets of a client its address is locked out for a minute.", false),
	Entry("in German by address", "Nach 10 falschen Geheimnissen ist das Konto gesperrt, gezählt je IP-Adresse.", false),
	Entry("for everyone", "After five wrong secrets of a client the token endpoint is locked for everyone.", false),
	Entry("of an organisation", "Five wrong secrets: the account of the organisation is locked.", false),
	Entry("of a university, in German", "Nach fünf falschen Geheimnissen ist das Konto der Hochschule gesperrt.", false),
	Entry("no lock, in short", "A wrong secret doesn't lock the client out.", false),
	Entry("no lock", "Wrong secrets of a client do not lock the account.", false),
	Entry("a limit beside it", "Ten wrong secrets lock the client out. More than 100 requests a minute are answered with 429.", false),
	Entry("nothing", "Funding calls.", false),
)
