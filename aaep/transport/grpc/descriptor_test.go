package grpc_test

import (
	"os"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/internal/testkit/aaepv1"
)

// TestDescriptor: what reflection serves, and the client that the tests use, are what aaep.proto says.
func TestDescriptor(t *testing.T) {
	t.Parallel()
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(map[string]string{"aaep.proto": grpc.Proto})}}
	files, err := compiler.Compile(t.Context(), "aaep.proto")
	if err != nil {
		t.Fatal(err)
	}
	want := protodesc.ToFileDescriptorProto(files[0])
	raw, err := os.ReadFile("aaep.binpb")
	if err != nil {
		t.Fatal(err)
	}
	var served descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(raw, &served); err != nil {
		t.Fatal(err)
	}
	if len(served.GetFile()) != 1 || !proto.Equal(served.GetFile()[0], want) {
		t.Errorf("aaep.binpb is %v, expected %v: make it again with `protoc -o aaep.binpb aaep.proto`", &served, want)
	}
	if got := protodesc.ToFileDescriptorProto(aaepv1.File_aaep_proto); !proto.Equal(got, want) {
		t.Errorf("the client of the tests is generated from %v, expected %v: its package says how", got, want)
	}
}
