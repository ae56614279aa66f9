package requirement

import "fmt"

// What the network shows of itself in public repositories, cited at a commit, so that a line stays what it was.
const (
	clientRepository = "https://github.com/RIS-Synergy/Import-Tool/blob/682e12597267281921ebbeaf88d408ca421c6e47/"
	nodeRepository   = "https://github.com/mdwRepository/ris-synergy-api/blob/f0bdd15e83de09ed4ddce3c543b8803b9aa368af/"
)

// publishedInfo cites a line of the network's description of the info resource.
func publishedInfo(line int) Source {
	return cite("Public info document of the network, version 1.0", fmt.Sprintf("%sbackend/scripts/fd-openapi/info.json#L%d", clientRepository, line))
}

// networkClient cites a comment in the code of the network's known client, where it reads a list.
func networkClient(line int) Source {
	return cite("Practice of the network's client", fmt.Sprintf("%sbackend/src/features/funding-agency/services/fa-sync.service.ts#L%d", clientRepository, line)).AsDerived()
}

// apiFramework cites a section of the network's public page on its APIs.
func apiFramework(section, fragment string) Source {
	return cite("Public API framework page of the network, "+section, nodeRepository+"docs/api_framework.en.md#"+fragment)
}
