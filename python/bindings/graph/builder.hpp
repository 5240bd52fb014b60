// GraphBuilder as a Python object, which other bindings take for the stream it captures on.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "cucore/graph_builder.hpp"
#include "python/bindings/wrappers.hpp"

namespace cucore::python {

/// A builder and a lock for the threads that use it. The lock is taken without the GIL. A call may release what a graph
/// kept alive, and that may call the builder again.
struct SharedBuilder {
  explicit SharedBuilder(GraphBuilder wrapped) : builder(std::move(wrapped)) {}
  std::recursive_mutex mutex;
  GraphBuilder builder;
};

struct PyGraphBuilder {
  PyGraphBuilder(GraphBuilder builder, nb::object on)
      : kind(builder.kind()), shared(std::make_shared<SharedBuilder>(std::move(builder))), stream(std::move(on)) {}
  PyGraphBuilder(PyGraphBuilder&&) noexcept = default;
  ~PyGraphBuilder() {
    if (shared == nullptr) return;
    const WithoutGil released;
    shared.reset();
  }

  GraphBuilderKind kind;
  bool is_closed = false;  ///< as of the last call that closes: with the GIL
  std::shared_ptr<SharedBuilder> shared;
  nb::object stream;  ///< a Stream, kept as long as this object: calls may be using it

  template <class Call>
  decltype(auto) use(Call&& call) const {
    const auto kept = shared;
    const WithoutGil released;
    const std::scoped_lock lock(kept->mutex);
    return call(kept->builder);
  }

  /// To be called with the GIL after what may have closed it.
  void note_closed() noexcept;
};

/// The stream of a GraphBuilder; null for anything else. Throws RuntimeError for a closed one.
const PyStream* stream_of_builder(nb::handle object);

/// The graph of an ended GraphBuilder; nothing for anything else. Throws ValueError for one that is closed or not
/// ended.
std::optional<GraphDefinition> definition_of_builder(nb::handle object);

/// A GraphBuilder on a Stream.
nb::object graph_builder_on(nb::handle stream);

}  // namespace cucore::python
