package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox/configfile"
)

// configFlags holds the flags about the configuration file of a sandbox.
type configFlags struct {
	file    string
	example bool
}

func (c *configFlags) register(f *pflag.FlagSet) {
	f.StringVar(&c.file, "config", "", "read nodes and flags from this file, YAML or JSON, - for standard input; flags on the command line override it")
	f.BoolVar(&c.example, "example-config", false, "print an example of such a file, and exit")
}

// read reads the configuration file and sets the flags that were not given on the command line. Without --config it returns an empty file.
func (c *configFlags) read(ctx context.Context, w environment, f *pflag.FlagSet) (configfile.File, error) {
	if c.file == "" {
		return configfile.File{}, nil
	}
	data, err := c.readData(w)
	if err != nil {
		return configfile.File{}, usage(fmt.Errorf("--config: %w", err), "rin sandbox --example-config prints such a file")
	}
	file, err := configfile.Read(configfile.Source{
		Data: data, Options: options(f),
		Secret: func(reference string) (string, error) {
			secret, err := readSecret(w, "secret", reference, &stdinOnce{taken: true}) // standard input may hold the file itself
			var flagProblem *target.Problem
			if errors.As(err, &flagProblem) && flagProblem.Cause == nil {
				// The message names no flag, because the fault names a position in the file.
				err = errors.New(flagProblem.Message + ": " + flagProblem.Hint)
			}
			return secret.Reveal(), err
		},
		Keys: func(place string) ([]byte, error) { return fetchKeys(ctx, w, place) },
	})
	var faults configfile.Faults
	if err != nil && !errors.As(err, &faults) {
		return file, internal(err)
	}
	faults = append(faults, assign(f, file)...)
	slices.SortStableFunc(faults, func(a, b configfile.Fault) int { return a.Line - b.Line })
	if len(faults) > 0 {
		return file, usage(&fileError{c.file, faults}, "")
	}
	if file.ListsNodes() && f.Lookup("nodes").Changed {
		return file, usage(errors.New("--nodes: the nodes are listed in "+c.file), "leave --nodes out, or remove nodes from the file")
	}
	return file, nil
}

// readData reads the file, or standard input for "--config -".
func (c *configFlags) readData(w environment) ([]byte, error) {
	if c.file == "-" {
		return io.ReadAll(io.LimitReader(w.in, 2<<20)) // more than configfile accepts
	}
	return w.readFile(c.file)
}

// options lists the flags that the file may set: all except those that only make sense on the command line, such as flags that print a list and exit.
func options(f *pflag.FlagSet) []configfile.Option {
	var all []configfile.Option
	f.VisitAll(func(flag *pflag.Flag) {
		if slices.Contains([]string{"config", "example-config", "deviations", "scenarios", "help", "no-color"}, flag.Name) {
			return
		}
		_, isList := flag.Value.(pflag.SliceValue)
		all = append(all, configfile.Option{Name: flag.Name, Expected: expectedValue(flag.Value.Type()), List: isList})
	})
	return all
}

// expectedValue describes the values that flags of a type accept, for messages.
func expectedValue(kind string) string {
	texts := map[string]string{
		"bool": "true or false", "int": "a number", "uint64": "a number from 0", "duration": "a duration, such as 5m",
		"stringSlice": "a text, or a list of them", "stringArray": "a text, or a list of them",
	}
	return cmp.Or(texts[kind], "a text")
}

// assign sets the flags that were not given on the command line to the values of the file.
func assign(f *pflag.FlagSet, file configfile.File) configfile.Faults {
	var faults configfile.Faults
	for _, option := range file.Options {
		flag := f.Lookup(option.Name)
		if flag.Changed {
			continue
		}
		var err error
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			err = list.Replace(option.Values)
		} else {
			err = flag.Value.Set(option.Values[0])
		}
		if err != nil {
			faults = append(faults, option.Fault(""))
		}
	}
	return faults
}

// fileError reports the faults of a configuration file.
type fileError struct {
	file   string
	faults configfile.Faults
}

// Error implements error.
func (e *fileError) Error() string { return e.file + ": " + e.faults.Error() }

// problems lists the faults with their hints. Positions are written as file:line:column, which editors and terminals turn into links.
func (e *fileError) problems() []problem {
	var all []problem
	for _, f := range e.faults {
		place := fmt.Sprintf("%s:%d:%d: ", e.file, f.Line, f.Column)
		if f.Path != "" {
			place += f.Path + ": "
		}
		all = append(all, problem{place + "expected " + f.Expected + ", got " + f.Got, f.Hint})
	}
	return all
}
