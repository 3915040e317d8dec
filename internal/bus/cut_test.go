package bus_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/earshot-dev/earshot/internal/bus"
)

// TestCutWithinTheProcess: a connection within this process that the server cuts, as one that
// took nothing for too long, is made again: a kernel would be deaf for ever without, and nobody
// would know.
func TestCutWithinTheProcess(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{Timeout: patience})
	must(t, kernel.Serve(t.Context(), echo))
	asks, hears := client(t, server, worker), client(t, server, files)
	heard := make(chan string, 1<<10)
	_, err := hears.Commands(t.Context(), func(_ context.Context, m bus.Message) { heard <- string(m.Payload) })
	must(t, err)
	for round := range 3 {
		server.CutEverybody()
		eventually(t, func() error {
			_, err := asks.Request(t.Context(), "claim", []byte("{}"))
			return err
		})
		eventually(t, func() error {
			payload := fmt.Sprint(round)
			if err := kernel.Publish(t.Context(), filesCommand, nil, []byte(payload)); err != nil {
				return err
			}
			select {
			case got := <-heard:
				if got == payload {
					return nil
				}
			default:
			}
			return fmt.Errorf("round %d: the command was not heard", round)
		})
	}
}
