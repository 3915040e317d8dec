package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/server"
)

// queueFlags adds the flags of which turns wait, and for how long.
func (f *upFlags) queueFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.DurationVar(&f.dispatchTimeout, "dispatch-timeout", server.DefaultDispatchTimeout,
		"how long a turn waits for a worker while its agent does nothing else, before it ends; 0 waits up to a day")
	flags.StringArrayVar(&f.maxActive, "max-active", nil,
		"AGENT=N: how many turns of the agent may be under way at once, the others wait in their order (default any number); may be given several times")
	flags.IntVar(&f.maxCards, "max-cards", server.DefaultMaxCards,
		"how many cards a worker may add to a turn, beside those of its calls")
	flags.StringArrayVar(&f.mayStart, "may-start", nil,
		"NAME=AGENT: the agent or tool service NAME may start turns of AGENT within its own (default only its own agent); may be given several times")
}

// limits reads the values of --max-active.
func (f *upFlags) limits() (map[string]int, error) {
	limits := map[string]int{}
	for _, given := range f.maxActive {
		agent, number, _ := strings.Cut(given, "=")
		n, err := strconv.Atoi(number)
		if agent == "" || err != nil || n < 1 {
			return nil, cause.Misuse("--max-active "+cause.OneLine(given)+" is not an agent and a number from 1 on", "give it as tidy=1")
		}
		limits[agent] = n
	}
	return limits, nil
}

// starters reads the values of --may-start.
func (f *upFlags) starters() (map[string][]string, error) {
	starters := map[string][]string{}
	for _, given := range f.mayStart {
		name, agent, _ := strings.Cut(given, "=")
		if name == "" || agent == "" {
			return nil, cause.Misuse("--may-start "+cause.OneLine(given)+" does not name who may start which agent", "give it as chat=tidy")
		}
		starters[name] = append(starters[name], agent)
	}
	return starters, nil
}
