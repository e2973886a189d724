#include "tokenroof/catalogue/engines.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalogue/embedded_files.hpp"
#include "readers/engine_file.hpp"
#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/readers.hpp"
#include "tokenroof/units/literals.hpp"

namespace tokenroof::catalogue {
namespace {

using namespace tokenroof::literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

std::vector<readers::EngineFile> files() {
  std::vector<readers::EngineFile> result;
  for (const EmbeddedFile& file : embedded_files("engines/")) {
    result.push_back(readers::parse_engine_file(file.text, file.path));
  }
  return result;
}

std::vector<std::string> nearest_to(std::string_view id) {
  try {
    (void)engine(id);
  } catch (const UnknownEngine& error) {
    return error.nearest();
  }
  ADD_FAILURE() << id << " is known";
  return {};
}

TEST(Engines, EveryFileIsNamedAfterItsEngine) {
  for (const EmbeddedFile& file : embedded_files("engines/")) {
    const Engine engine = parse_engine(file.text, file.path);
    const std::string id(engine.id.view());
    const std::string stem = std::string(file.path.substr(8, file.path.size() - 13));
    EXPECT_TRUE(stem == id || stem == id + "@" + std::string(engine.version.view())) << file.path;
  }
}

TEST(Engines, NamesAreSortedAndNeutralOneIsAmongThem) {
  EXPECT_TRUE(std::ranges::is_sorted(engine_ids()));
  EXPECT_THAT(engine_ids(), IsSupersetOf({"roofline", "vllm", "tensorrt-llm", "sglang", "llama.cpp-cuda",
                                          "llama.cpp-metal", "llama.cpp-cpu", "mlx", "executorch", "genie"}));
  EXPECT_EQ(engine_versions().size(), embedded_files("engines/").size() + 1);
  EXPECT_EQ(engine("roofline"), roofline_engine());
}

TEST(Engines, AreFoundByIdVersionAndAlias) {
  EXPECT_EQ(engine("vllm")->id, "vllm");
  EXPECT_EQ(engine("vLLM@0.19")->version, "0.19");
  EXPECT_EQ(engine("vllm@0.19.1")->version, "0.19");
  EXPECT_EQ(engine("TRT-LLM")->id, "tensorrt-llm");
  EXPECT_EQ(engine("llama.cpp CUDA")->id, "llama.cpp-cuda");
  EXPECT_EQ(engine("mlx-lm")->id, "mlx");
  for (const std::string& name : engine_versions()) {
    EXPECT_EQ(engine(name)->id, name.substr(0, name.find('@'))) << name;
  }
}

TEST(Engines, OneWithoutVersionIsTheNewest) {
  EXPECT_EQ(engine("vllm")->version, "0.19");
  EXPECT_EQ(engine("vllm@2024")->version, "2024");
  EXPECT_LT(constants_for(*engine("vllm"), device("h100_sxm")).decode_layer,
            constants_for(*engine("vllm@2024"), device("h100_sxm")).decode_layer);
}

TEST(Engines, UnknownOnesComeWithTheNearest) {
  EXPECT_THAT(nearest_to("vlm"), Contains("vllm"));
  EXPECT_THAT(nearest_to("llama.cpp"), IsSupersetOf({"llama.cpp-cuda", "llama.cpp-metal", "llama.cpp-cpu"}));
  EXPECT_THAT(nearest_to("vllm@0.12"), ElementsAre("vllm@0.19", "vllm@0.16", "vllm@2024", "vllm@2023"));
  EXPECT_THAT(nearest_to("vllm@0.190"), ElementsAre("vllm@0.19", "vllm@0.16", "vllm@2024", "vllm@2023"));
  EXPECT_THAT(nearest_to("roofline@1"), ElementsAre("roofline"));
  EXPECT_THAT(nearest_to(""), testing::IsEmpty());
  EXPECT_THAT(nearest_to(std::string(100'000, 'v')), testing::IsEmpty());
}

TEST(Engines, NoSpellingMeansTwo) {
  for (const readers::EngineFile& file : files()) {
    for (const std::string& alias : file.aliases) {
      EXPECT_EQ(engine(alias)->id, file.engine.id) << alias;
    }
  }
}

TEST(Engines, FamiliesOfProfilesExist) {
  std::set<std::string_view> families;
  for (const Device& known : devices()) {
    families.insert(known.family);
  }
  for (const readers::EngineFile& file : files()) {
    for (const EngineProfile& profile : file.engine.profiles) {
      EXPECT_TRUE(profile.family.empty() || families.contains(profile.family))
          << file.engine.id.view() << ": " << profile.family.view();
    }
    for (const readers::DeviceSelector& selector : file.default_for) {
      EXPECT_TRUE(selector.family.empty() || families.contains(selector.family)) << selector.family.view();
    }
  }
}

TEST(Engines, ProfilesDifferFromPhysicsAndFamilyFromFamily) {
  for (const readers::EngineFile& file : files()) {
    const std::vector<EngineProfile>& profiles = file.engine.profiles;
    for (const EngineProfile& profile : profiles) {
      EXPECT_FALSE(profile.constants == EngineConstants{}) << file.engine.id.view();
    }
    const auto like_first = [&](const EngineProfile& other) { return other.constants == profiles[0].constants; };
    EXPECT_TRUE(profiles.size() <= 1 || !std::all_of(profiles.begin(), profiles.end(), like_first))
        << file.engine.id.view();
  }
}

TEST(Engines, DefaultIsTheUsualOne) {
  EXPECT_EQ(default_engine(device("h100_sxm"))->id, "vllm");
  EXPECT_EQ(default_engine(device("rtx_4090"))->id, "llama.cpp-cuda");
  EXPECT_EQ(default_engine(device("rtx_6000_ada"))->id, "llama.cpp-cuda");
  EXPECT_EQ(default_engine(device("gb10_dgx_spark"))->id, "llama.cpp-cuda");
  EXPECT_EQ(default_engine(device("apple_m3_max_40c"))->id, "llama.cpp-metal");
  EXPECT_EQ(default_engine(device("snapdragon_8_elite"))->id, "executorch");
  EXPECT_EQ(default_engine(device("apple_a18_pro"))->id, "mlx");
  EXPECT_EQ(default_engine(device("epyc_9654"))->id, "llama.cpp-cpu");
  EXPECT_EQ(default_engine(device("rx_7900_xtx"))->id, "roofline") << "no profile of ROCm or Vulkan yet";
  EXPECT_EQ(default_engine(device("tpu_v5e"))->id, "roofline");
}

TEST(Engines, NoTwoAreTheDefaultForTheSameDevices) {
  std::vector<readers::DeviceSelector> taken;
  for (const readers::EngineFile& file : files()) {
    for (const readers::DeviceSelector& selector : file.default_for) {
      EXPECT_EQ(std::find(taken.begin(), taken.end(), selector), taken.end()) << file.engine.id.view();
      taken.push_back(selector);
    }
  }
}

TEST(Engines, ProfileOfFamilyAndClassGoesBeforeFamily) {
  const Engine& vllm = *engine("vllm");
  const auto bandwidth = [&](std::string_view id) { return constants_for(vllm, device(id)).bandwidth_efficiency; };
  EXPECT_GT(bandwidth("rtx_4090"), bandwidth("l40s"));
  const Engine& llama = *engine("llama.cpp-cuda");
  EXPECT_TRUE(has_profile(llama, device("rtx_4090")));
  EXPECT_FALSE(has_profile(llama, device("mi300x")));
}

TEST(Engines, FilesAreAtHandWithTheirSources) {
  EXPECT_THAT(std::string(engine_file("vllm")), HasSubstr("\"source\""));
  EXPECT_TRUE(engine_file("roofline").empty());
}

TEST(Engines, ManyThreadsMayAskAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] { EXPECT_EQ(engine("sglang")->id, "sglang"); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

} // namespace
} // namespace tokenroof::catalogue
