package requirement

import "fmt"

func rfc(number int, section string) Source {
	return Source{
		Text: fmt.Sprintf("RFC %d §%s", number, section),
		URL:  fmt.Sprintf("https://www.rfc-editor.org/rfc/rfc%d.html#%s", number, anchor(section)),
	}
}

// anchor is the fragment that rfc-editor.org gives a section: "section-5.1", "appendix-B".
func anchor(section string) string {
	if section != "" && section[0] >= 'A' && section[0] <= 'Z' {
		return "appendix-" + section
	}
	return "section-" + section
}

// OAS cites an object of the OpenAPI Specification 3.0.3: OAS("Parameter Object", "parameter-object").
func OAS(object, fragment string) Source {
	return Source{Text: "OpenAPI 3.0.3, " + object, URL: "https://spec.openapis.org/oas/v3.0.3.html#" + fragment}
}
