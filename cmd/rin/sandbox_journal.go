package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox/journal"
)

// journalFlags say how much a sandbox remembers of what clients sent.
type journalFlags struct{ entries int }

func (j *journalFlags) register(f *pflag.FlagSet) {
	f.IntVar(&j.entries, "journal", journal.DefaultLimit, "number of requests to remember for rin sandbox report; 0 for none")
}

// limit is what NetworkConfig.JournalLimit takes.
func (j *journalFlags) limit() (int, error) {
	if j.entries < 0 || j.entries > journal.MaxLimit {
		return 0, usage(fmt.Errorf("--journal: expected 0 to %d, got %d", journal.MaxLimit, j.entries), fmt.Sprintf("leave it out for %d", journal.DefaultLimit))
	}
	if j.entries == 0 {
		return -1, nil
	}
	return j.entries, nil
}
