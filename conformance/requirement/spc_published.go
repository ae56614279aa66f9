package requirement

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

func readableWithoutToken(e Evidence) Judgement {
	anonymous := exchange.Specification.With(exchange.NoToken)
	if j, lacks := e.lacking(anonymous); lacks {
		return j
	}
	x, good := e.The(anonymous), e.The(exchange.Specification.With(exchange.OK))
	const expected = "200 without a token"
	if documentServed(e, x).Outcome == Pass {
		return Passed(x.Label)
	}
	if j, unclear := noVerdict(x); unclear {
		return j
	}
	if documentServed(e, good).Outcome == Pass {
		return Warned("the document is served to callers with a token only, so the reference documentation can't link to it", expected, describe(x)).about(x, expected, describe(x))
	}
	return Unclear("the document came neither without nor with a token").about(x, expected, describe(x))
}

func structureValid(e Evidence) Judgement {
	switch {
	case e.Document == nil:
		return unread()
	case e.Document.Uncompared != "":
		return Missing("the document was not compared with a meta-schema: " + clip(e.Document.Uncompared)).Seen(described(e))
	}
	version, _ := documentVersion(e.Spec)
	expected := "a document that fits the meta-schema of " + versionName(version)
	var faults []Subject
	for _, fault := range e.Document.Invalid {
		place, words, told := strings.Cut(fault, ": ")
		if !told {
			place, words = "the document", fault
		}
		faults = append(faults, Subject{Name: clip(place), Expected: expected, Got: clip(words)})
	}
	return aboutDocument(e, faults, func() Judgement { return Passed() }, func(first Subject) Judgement {
		return Failed(fmt.Sprintf("the document is not built as %s asks, first at %s", versionName(version), first.Name), first.Expected, first.Got)
	})
}

// versionName names the specification that a document follows: "OpenAPI 3.0.3", "Swagger 2.0".
func versionName(version string) string {
	if version == "2.0" {
		return "Swagger 2.0"
	}
	return clip("OpenAPI " + version)
}
