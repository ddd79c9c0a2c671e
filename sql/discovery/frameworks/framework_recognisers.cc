#include <algorithm>
#include <iterator>
#include <set>

#include "sql/discovery/frameworks/framework.h"

namespace redquel::sql {

namespace {

constexpr std::size_t kExamples = 3;

/// Gives each framework a schema name of its own: bullmq, bullmq_2 …
void name_schemas(std::vector<FoundFramework>& found) {
  std::set<std::string> taken;
  for (FoundFramework& framework : found) {
    const std::string base = framework.proposal.schema;
    for (std::size_t number = 2; !taken.insert(framework.proposal.schema).second; ++number) {
      framework.proposal.schema = base + "_" + std::to_string(number);
    }
  }
}

}  // namespace

std::span<const FrameworkRecogniser> framework_recognisers() {
  static constexpr FrameworkRecogniser kRecognisers[] = {
      {"BullMQ", recognise_bullmq},
      {"Bull", recognise_bull},
      {"Sidekiq", recognise_sidekiq},
      {"Resque", recognise_resque},
      {"Celery", recognise_celery},
      {"RQ", recognise_rq},
      {"Laravel", recognise_laravel},
      {"Horizon", recognise_horizon},
      {"Django", recognise_django},
      {"Rails", recognise_rails},
      {"connect-redis", recognise_connect_redis},
      {"Spring Session", recognise_spring_session},
      {"rate-limiter-flexible", recognise_rate_limiter},
      {"Redlock", recognise_redlock},
      {"Socket.IO", recognise_socket_io},
      {"Kamailio", recognise_kamailio},
      {"Spring Data Redis", recognise_spring_data},
      {"Redis OM", recognise_redis_om},
  };
  return kRecognisers;
}

std::vector<ProposedFramework> take_frameworks(std::vector<SampledShape>& shapes) {
  // The keys of all shapes, and the shape of each. Samples may take much memory: they are moved.
  std::vector<KeySample> keys;
  std::vector<std::size_t> shape_of, sampled;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    sampled.push_back(shapes[i].keys.size());
    shape_of.insert(shape_of.end(), shapes[i].keys.size(), i);
    std::ranges::move(shapes[i].keys, std::back_inserter(keys));
    shapes[i].keys.clear();
  }
  std::vector<FoundFramework> found;
  for (const FrameworkRecogniser& recogniser : framework_recognisers()) {
    std::vector<FoundFramework> frameworks = recogniser.recognise(keys);
    if (frameworks.empty()) continue;
    std::size_t others = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto owner = std::ranges::find_if(frameworks, [&](const FoundFramework& framework) { return framework.owns(keys[i]); });
      if (owner == frameworks.end()) {
        shape_of[others] = shape_of[i];
        if (others != i) keys[others] = std::move(keys[i]);
        ++others;
      } else if (owner->proposal.examples.size() < kExamples) {
        owner->proposal.examples.push_back(std::move(keys[i].key));
      }
    }
    keys.resize(others);
    std::ranges::move(frameworks, std::back_inserter(found));
  }
  name_schemas(found);
  for (std::size_t i = 0; i < keys.size(); ++i) shapes[shape_of[i]].keys.push_back(std::move(keys[i]));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    // Reduces the count of the keys that were not sampled by the share that belongs to frameworks.
    KeyShape& shape = shapes[i].shape;
    if (shapes[i].keys.size() < sampled[i]) shape.count = shape.count * shapes[i].keys.size() / sampled[i];
  }
  std::erase_if(shapes, [](const SampledShape& shape) { return shape.shape.count == 0; });
  std::vector<ProposedFramework> frameworks;
  for (FoundFramework& framework : found) frameworks.push_back(std::move(framework.proposal));
  return frameworks;
}

}  // namespace redquel::sql
