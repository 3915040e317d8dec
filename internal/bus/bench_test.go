package bus_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/earshot-dev/earshot/internal/bus"
)

// BenchmarkRing compares, in one run, the two ways to get a command of 1 KiB to a tool
// at least once: to ring on core NATS, and ring again from the ledger if the call does
// not start; or to store the command in a work-queue stream, deliver and acknowledge
// it. Each turn is one command, from the call to publish until the handler has it. The
// stream's handler acknowledges without waiting for a confirmation, which is the
// cheapest that a stream can be.
func BenchmarkRing(b *testing.B) {
	b.Run("core", benchmarkCore)
	b.Run("workqueue", benchmarkWorkQueue(false))
	b.Run("workqueue-synced", benchmarkWorkQueue(true))
}

func benchmarkCore(b *testing.B) {
	ctx := b.Context()
	s, err := bus.Start(ctx, bus.Options{Project: project, Principals: []bus.Principal{files}})
	check(b, err)
	b.Cleanup(s.Close)
	kernel, err := s.Kernel(ctx)
	check(b, err)
	tool, err := s.Connect(ctx, files)
	check(b, err)
	heard := make(chan struct{}, 1)
	_, err = tool.Commands(ctx, func(context.Context, bus.Message) { heard <- struct{}{} })
	check(b, err)
	payload := make([]byte, 1<<10)
	b.ReportAllocs()
	for b.Loop() {
		check(b, kernel.Publish(ctx, filesCommand, nil, payload))
		<-heard
	}
}

func benchmarkWorkQueue(synced bool) func(b *testing.B) {
	return func(b *testing.B) {
		ctx := b.Context()
		ns, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, JetStream: true, StoreDir: b.TempDir(), SyncAlways: synced})
		check(b, err)
		ns.Start()
		b.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
		consumer, publisher := streamEnds(b, ns)
		heard := make(chan struct{}, 1)
		running, err := consumer.Consume(func(m jetstream.Msg) {
			if err := m.Ack(); err != nil {
				b.Error(err)
			}
			heard <- struct{}{}
		})
		check(b, err)
		b.Cleanup(func() { running.Stop(); <-running.Closed() })
		payload := make([]byte, 1<<10)
		b.ReportAllocs()
		for b.Loop() {
			_, err := publisher.Publish(ctx, filesCommand, payload)
			check(b, err)
			<-heard
		}
	}
}

// streamEnds gives the tool and the kernel a connection each, as the other way has.
func streamEnds(b *testing.B, ns *server.Server) (jetstream.Consumer, jetstream.JetStream) {
	b.Helper()
	var ends [2]jetstream.JetStream
	for i := range ends {
		nc, err := nats.Connect("", nats.InProcessServer(ns))
		check(b, err)
		b.Cleanup(nc.Close)
		ends[i], err = jetstream.New(nc)
		check(b, err)
	}
	stream, err := ends[0].CreateStream(b.Context(), jetstream.StreamConfig{
		Name: "commands", Subjects: []string{"cg.v1r4.*.*.cmd.>"}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
	})
	check(b, err)
	consumer, err := stream.CreateConsumer(b.Context(), jetstream.ConsumerConfig{
		Durable: "files", FilterSubject: "cg.v1r4.home.*.cmd.tool.files.*", AckPolicy: jetstream.AckExplicitPolicy,
	})
	check(b, err)
	return consumer, ends[1]
}

// BenchmarkRequest is one request of a principal and its answer, 1 KiB each, across
// the accounts.
func BenchmarkRequest(b *testing.B) {
	for _, listen := range []string{"", "127.0.0.1:0"} {
		name := "in-process"
		if listen != "" {
			name = "loopback"
		}
		b.Run(name, func(b *testing.B) {
			ctx := b.Context()
			s, err := bus.Start(ctx, bus.Options{Project: project, Principals: []bus.Principal{worker}, Listen: listen})
			check(b, err)
			b.Cleanup(s.Close)
			kernel, err := s.Kernel(ctx)
			check(b, err)
			check(b, kernel.Serve(ctx, echo))
			c, err := dialOrConnect(ctx, s)
			check(b, err)
			b.Cleanup(c.Close)
			payload := make([]byte, 1<<10)
			b.ReportAllocs()
			for b.Loop() {
				_, err := c.Request(ctx, "claim", payload)
				check(b, err)
			}
		})
	}
}

func dialOrConnect(ctx context.Context, s *bus.Server) (*bus.Client, error) {
	if s.URL() == "" {
		return s.Connect(ctx, worker)
	}
	credentials, err := s.Credentials(worker)
	if err != nil {
		return nil, err
	}
	return bus.Dial(ctx, credentials, bus.DialOptions{})
}

// BenchmarkStart is the whole bus: start, the kernel, one principal, and close.
func BenchmarkStart(b *testing.B) {
	ctx := b.Context()
	for b.Loop() {
		s, err := bus.Start(ctx, bus.Options{Project: project, Principals: []bus.Principal{files}})
		check(b, err)
		kernel, err := s.Kernel(ctx)
		check(b, err)
		check(b, kernel.Serve(ctx, echo))
		_, err = s.Connect(ctx, files)
		check(b, err)
		s.Close()
	}
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
