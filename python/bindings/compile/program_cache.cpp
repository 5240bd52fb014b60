// ProgramCache as a Python object.
#include "cucore/program_cache.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "cucore/cache_archive.hpp"
#include "cucore/program.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {
namespace {

constexpr std::uint64_t default_bytes = std::uint64_t{1} << 30;

// A store of the package (`cucore.stores`). Its object lives until the cache does, which may be without the GIL.
class PythonStore final : public ProgramCacheStore {
 public:
  explicit PythonStore(nb::object store) : store_(std::move(store)) {}
  PythonStore(const PythonStore&) = delete;
  PythonStore& operator=(const PythonStore&) = delete;
  ~PythonStore() override {
    if (Py_IsInitialized() == 0) {
      (void)store_.release();
      return;
    }
    const nb::gil_scoped_acquire gil;
    store_.reset();
  }

  std::optional<std::string> obtain(const std::string& key) override {
    const nb::gil_scoped_acquire gil;
    const nb::object entry = store_.attr("obtain")(key.c_str());
    if (entry.is_none()) return std::nullopt;
    const auto bytes = nb::cast<nb::bytes>(entry);
    return std::string(bytes.c_str(), bytes.size());
  }
  void publish(const std::string& key, const std::string& entry) override {
    const nb::gil_scoped_acquire gil;
    store_.attr("publish")(key.c_str(), nb::bytes(entry.data(), entry.size()));
  }
  void abandon(const std::string& key) override {
    const nb::gil_scoped_acquire gil;
    store_.attr("abandon")(key.c_str());
  }

 private:
  nb::object store_;
};

void make(ProgramCache* self, nb::handle path, std::uint64_t max_bytes, double lock_wait, bool shared,
          nb::handle store) {
  ProgramCacheOptions options{.max_bytes = max_bytes,
                              .shared = shared,
                              .lock_wait = std::chrono::milliseconds(static_cast<std::int64_t>(lock_wait * 1000.0))};
  if (!path.is_none()) options.path = path_of(path);
  const nb::object opened = from_package(Package::shared_store)(store);
  if (!opened.is_none()) options.store = std::make_shared<PythonStore>(opened);
  new (self) ProgramCache(options);
}

nb::object stats(const ProgramCache& self) {
  const ProgramCacheStats now = self.stats();
  return from_package(Package::ProgramCacheStats)(now.hits, now.shared, now.misses, now.uncacheable, now.bad_records,
                                                  now.stores, now.store_failures, now.evictions, now.lock_timeouts,
                                                  now.store_hits);
}

double unix_time(std::chrono::system_clock::time_point point) {
  return std::chrono::duration<double>(point.time_since_epoch()).count();
}

nb::list as_list(const std::vector<ProgramCacheEntry>& entries) {
  nb::list list;
  const nb::handle make_entry = from_package(Package::ProgramCacheEntry);
  for (const ProgramCacheEntry& entry : entries) {
    list.append(make_entry(entry.key, entry.bytes, unix_time(entry.stored), unix_time(entry.used)));
  }
  return list;
}

nb::list entries(const ProgramCache& self) {
  return as_list(without_gil([&] { return self.entries(); }));
}

std::optional<std::chrono::seconds> seconds_of(std::optional<double> given) {
  if (!given) return std::nullopt;
  return std::chrono::seconds(static_cast<std::int64_t>(*given));
}

nb::list prune(ProgramCache& self, std::optional<std::uint64_t> max_bytes, std::optional<double> max_age,
               std::optional<double> max_unused, bool dry_run) {
  const ProgramCachePrune limits{
      .max_bytes = max_bytes, .max_age = seconds_of(max_age), .max_unused = seconds_of(max_unused), .dry_run = dry_run};
  return as_list(without_gil([&] { return self.prune(limits); }));
}

// `keys` is a cucore.stores.KeyRing.
ArchiveOptions archive_options(nb::handle keys, bool allow_unsigned, const std::vector<std::string>& only) {
  ArchiveOptions options{.allow_unsigned = allow_unsigned, .only = only};
  if (keys.is_none()) return options;
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const nb::handle pair : keys.attr("items")()) {
    const auto secret = nb::cast<nb::bytes>(pair[1]);
    pairs.emplace_back(nb::cast<std::string>(pair[0]), std::string(secret.c_str(), secret.size()));
  }
  options.keys = KeyRing(std::move(pairs));
  return options;
}

std::size_t export_archive(ProgramCache& self, nb::handle path, nb::handle keys, bool allow_unsigned,
                           const std::vector<std::string>& only) {
  const ArchiveOptions options = archive_options(keys, allow_unsigned, only);
  return without_gil([&, file = path_of(path)] { return export_cache(self, file, options); });
}

nb::object import_archive(ProgramCache& self, nb::handle path, nb::handle keys, bool allow_unsigned,
                          const std::vector<std::string>& only) {
  const ArchiveOptions options = archive_options(keys, allow_unsigned, only);
  const ArchiveImport report = without_gil([&, file = path_of(path)] { return import_cache(self, file, options); });
  nb::dict rejected;
  for (const auto& [key, reason] : report.rejected) rejected[key.c_str()] = reason;
  return from_package(Package::ArchiveImport)(report.imported, report.already_there, rejected);
}

// `program` is a cucore.Program, which holds the core's.
nb::object why(ProgramCache& self, nb::handle program, const std::string& target, nb::handle names) {
  const nb::object arguments = from_package(Package::inputs_of_compile)(program, nb::str(target.c_str()), names);
  const auto& core = nb::cast<const Program&>(arguments[0]);
  const CodeType wanted(nb::cast<std::string>(arguments[1]));
  const auto expressions = nb::cast<std::vector<std::string>>(arguments[2]);
  return text_object(without_gil([&] { return self.why(core, wanted, expressions); }));
}

}  // namespace

void bind_program_cache(nb::module_& module) {
  nb::class_<ProgramCache>(
      module, "ProgramCache", nb::is_weak_referenceable(),
      "Compiled code kept in a folder, shared by any number of threads and processes. Pass it as "
      "compile(..., cache=). path: the folder; None is $CUCORE_CACHE_DIR, else "
      "$XDG_CACHE_HOME/cucore, else ~/.cache/cucore. max_bytes: what was used longest ago goes "
      "when the files' sum passes it. lock_wait: seconds to wait for another process that compiles "
      "the same thing. shared: use a folder that belongs to another user and entries written by "
      "others, who can then put code into this process. store: what other hosts share, asked after "
      "the folder: a URL or a store of cucore.stores; None is $CUCORE_CACHE_STORE, if that is set.")
      .def("__init__", make, nb::arg("path") = nb::none(), nb::kw_only(), nb::arg("max_bytes") = default_bytes,
           nb::arg("lock_wait") = 60.0, nb::arg("shared") = false, nb::arg("store") = nb::none())
      .def_prop_ro(
          "path", [](const ProgramCache& self) { return std::string(self.path()); }, "The folder.")
      .def_prop_ro("stats", stats, "Counts since this object was made: hits, misses, uncacheable and others.")
      .def("why", why, nb::arg("program"), nb::arg("target_type"), nb::arg("name_expressions") = nb::tuple(),
           "What compiling `program` so would meet: \"hit\", \"miss: \" and what differs from the last compile of that "
           "name, or \"uncacheable: \" and the reason. Compiles nothing and counts nothing.")
      .def("__len__", [](const ProgramCache& self) { return without_gil([&] { return self.size(); }); })
      .def_prop_ro(
          "size_bytes", [](const ProgramCache& self) { return without_gil([&] { return self.size_bytes(); }); },
          "The sum of the sizes of all files.")
      .def(
          "clear", [](ProgramCache& self) { without_gil([&] { self.clear(); }); }, "Removes all entries.")
      .def(
          "entries", entries,
          "What the folder has, the most recently used first: key, bytes, and the times (as time.time()) at which each "
          "was stored and last used.")
      .def("prune", prune, nb::kw_only(), nb::arg("max_bytes") = nb::none(), nb::arg("max_age") = nb::none(),
           nb::arg("max_unused") = nb::none(), nb::arg("dry_run") = false,
           "Removes what any of the limits says, and returns it. max_bytes: what is to be left at most; max_age, "
           "max_unused: seconds since an entry was stored and last used. dry_run: removes nothing.")
      .def("export_archive", export_archive, nb::arg("path"), nb::kw_only(), nb::arg("keys") = nb::none(),
           nb::arg("allow_unsigned") = false, nb::arg("only") = nb::tuple(),
           "Writes the entries, or those whose keys are in `only`, into one signed archive (a tar file), and returns "
           "how "
           "many. keys: a cucore.stores.KeyRing; None is the file that $CUCORE_CACHE_KEYS names.")
      .def("import_archive", import_archive, nb::arg("path"), nb::kw_only(), nb::arg("keys") = nb::none(),
           nb::arg("allow_unsigned") = false, nb::arg("only") = nb::tuple(),
           "Takes in the entries of an archive that are signed with one of the keys, and returns counts: imported, "
           "already_there, and the reasons of those rejected by their keys. Raises ValueError for a file that is cut.")
      .def("__repr__",
           [](const ProgramCache& self) { return "<ProgramCache path='" + std::string(self.path()) + "'>"; });
}

}  // namespace cucore::python
