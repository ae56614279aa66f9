package conduct

import "fmt"

// rfc is a section of an RFC.
func rfc(number int, section string) Source {
	return Source{fmt.Sprintf("RFC %d §%s", number, section), fmt.Sprintf("https://www.rfc-editor.org/rfc/rfc%d#section-%s", number, section)}
}

// network is a rule of the network's interface document.
func network(rule int) Source { return Source{Text: fmt.Sprintf("NET-R%d", rule)} }

// practice is what the network's own client is known to do.
func practice(habit string) Source { return Source{Text: "practice of the network: " + habit} }
